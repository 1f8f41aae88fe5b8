#pragma once

// Redistributions run on devices and compared, every byte of every rank's memory.

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <twill/twill.hpp>

#include "support/devices.hpp"
#include "support/image.hpp"
#include "support/redistribution.hpp"

namespace support {

/// One rank's memory, its gaps and what surrounds it included.
class rank_image {
 public:
  rank_image(const redistribution& of, int rank, twill::stream_ref stream, std::size_t misalignment)
      : in_bytes_(rank_memory(of, of.shape.in, rank)),
        out_bytes_(rank_memory(of, of.shape.out, rank)),
        in_(stream, in_bytes_.size(), misalignment, 1),
        out_(stream, out_bytes_.size(), misalignment, 2) {
    std::copy(in_bytes_.begin(), in_bytes_.end(), in_.expected());
    twill::upload_bytes(stream, in_bytes_.data(), in_.data(), in_bytes_.size());
    fill_output(stream);
    stream.wait();
  }

  twill::member_memory memory() const { return {in_.data(), out_.data()}; }

  /// Makes the output wrong, in the order of the stream.
  void fill_output(twill::stream_ref stream) {
    std::fill_n(out_.expected(), out_bytes_.size(), gap_byte);
    twill::fill_bytes(stream, out_.data(), gap_byte, out_bytes_.size());
  }

  bool right(twill::stream_ref stream) {
    std::copy(out_bytes_.begin(), out_bytes_.end(), out_.expected());
    return in_.matches(stream) && out_.matches(stream);
  }

 private:
  std::vector<unsigned char> in_bytes_, out_bytes_;
  image in_, out_;
};

/// `first`, then the other test devices of its backend and model.
inline std::vector<twill::device> devices_like(const twill::device& first) {
  std::vector<twill::device> all{first};
  for (const auto& name : test_devices()) {
    const auto other = twill::device::open(name);
    const bool is_alike = other.properties().backend == first.properties().backend &&
                          other.properties().model == first.properties().model;
    if (is_alike && other != first) all.push_back(other);
  }
  return all;
}

/// A device for each of `size` ranks: those in turn.
inline std::vector<twill::device> team_devices(const twill::device& first, int size) {
  const auto all = devices_like(first);
  std::vector<twill::device> ranks;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) ranks.push_back(all[rank % all.size()]);
  return ranks;
}

/// All ranks of a redistribution in this process, a stream and an image each.
class team_images {
 public:
  team_images(const twill::device& device, const redistribution& of, std::size_t misalignment = 0)
      : team(twill::team::of_devices(team_devices(device, of.size))) {
    for (int rank = 0; rank < of.size; ++rank) {
      streams_.emplace_back(team.local_device(rank));
      streams.emplace_back(streams_.back());
      ranks_.push_back(std::make_unique<rank_image>(of, rank, streams.back(), misalignment));
      memory.push_back(ranks_.back()->memory());
    }
  }

  /// Whether a run makes every wrong output right.
  bool right_after(twill::global_transpose& plan) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank]->fill_output(streams[rank]);
    plan.run(streams);
    bool right = true;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) right = ranks_[rank]->right(streams[rank]) && right;
    return right;
  }

  twill::team team;
  std::vector<twill::stream_ref> streams;
  std::vector<twill::member_memory> memory;

 private:
  std::vector<twill::stream> streams_;
  std::vector<std::unique_ptr<rank_image>> ranks_;
};

/// All ranks in this thread. Returns whether it is right after each of `runs` runs.
inline bool right_in_one_process(const twill::device& device, const redistribution& of, int runs,
                                 std::size_t misalignment = 0, const twill::global_options& options = {}) {
  team_images images(device, of, misalignment);
  twill::global_transpose plan(images.team, of.element_bytes, of.shape, images.memory, options);
  bool right = true;
  for (int run = 0; run < runs; ++run) right = images.right_after(plan) && right;
  return right;
}

/// One rank of a team of threads or processes.
inline bool right_on_rank(const twill::team& team, const redistribution& of, const twill::global_options& options,
                          int runs, const std::function<void(int)>& before_run = nullptr) {
  const int rank = team.local_ranks().front();
  const twill::stream stream(team.local_device(0));
  rank_image image(of, rank, stream, 0);
  twill::global_transpose plan(team, of.element_bytes, of.shape, {image.memory()}, options);
  bool right = true;
  for (int run = 0; run < runs; ++run) {
    image.fill_output(stream);
    if (before_run) before_run(run);
    plan.run(stream);
    right = image.right(stream) && right;
  }
  return right;
}

inline bool right_on_rank(const twill::team& team, const redistribution& of, twill::transport via, int runs,
                          const std::function<void(int)>& before_run = nullptr) {
  twill::global_options options;
  options.via = via;
  return right_on_rank(team, of, options, runs, before_run);
}

}  // namespace support
